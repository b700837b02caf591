// SPDX-License-Identifier: GPL-2.0
// rig_motion - a board's device tree entry of an accelerometer: on this I2C bus, at this address, with that GPIO line as its
// interrupt. A bus on USB has no device tree, and `new_device` does not take an interrupt.
#include <linux/gpio.h>
#include <linux/i2c.h>
#include <linux/module.h>

static int bus;
module_param(bus, int, 0444);
static int address = 0x18;
module_param(address, int, 0444);
static char *type = "bma255";
module_param(type, charp, 0444);
// The number of the line among all lines of the kernel.
static int gpio;
module_param(gpio, int, 0444);

static struct i2c_client *client;

static int __init rig_motion_init(void)
{
	struct i2c_board_info info = { .addr = address };
	struct i2c_adapter *adapter = i2c_get_adapter(bus);

	if (!adapter)
		return -ENODEV;
	strscpy(info.type, type, sizeof(info.type));
	info.irq = gpio_to_irq(gpio);
	if (info.irq > 0)
		client = i2c_new_client_device(adapter, &info);
	else
		client = ERR_PTR(-ENXIO);
	i2c_put_adapter(adapter);
	return PTR_ERR_OR_ZERO(client);
}

static void __exit rig_motion_exit(void)
{
	i2c_unregister_device(client);
}

module_init(rig_motion_init);
module_exit(rig_motion_exit);
MODULE_DESCRIPTION("An accelerometer with an interrupt, on a bus that nothing describes");
MODULE_LICENSE("GPL");
