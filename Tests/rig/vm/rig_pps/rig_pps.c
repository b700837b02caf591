// SPDX-License-Identifier: GPL-2.0
// rig_pps - a receiver's pulses at a simulated GPIO line: one per second of a clock that is `ahead` of the system's.
// The stamps are the times of the edges, as from an interrupt without latency; readers may be late.
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/pps_kernel.h>

// Nanoseconds; less than a second.
static long ahead;
module_param(ahead, long, 0444);

static struct pps_device *pps;
static struct hrtimer timer;

static struct pps_source_info info = {
	.name = "rig",
	.mode = PPS_CAPTUREASSERT | PPS_OFFSETASSERT | PPS_CANWAIT | PPS_TSFMT_TSPEC,
	.owner = THIS_MODULE,
};

static enum hrtimer_restart pulse(struct hrtimer *unused)
{
	struct pps_event_time stamp = {
		.ts_real = ktime_to_timespec64(hrtimer_get_expires(&timer)),
	};

	pps_event(pps, &stamp, PPS_CAPTUREASSERT, NULL);
	hrtimer_forward_now(&timer, NSEC_PER_SEC);
	return HRTIMER_RESTART;
}

static int __init rig_pps_init(void)
{
	pps = pps_register_source(&info, PPS_CAPTUREASSERT | PPS_OFFSETASSERT);
	if (IS_ERR(pps))
		return PTR_ERR(pps);
	hrtimer_init(&timer, CLOCK_REALTIME, HRTIMER_MODE_ABS_HARD);
	timer.function = pulse;
	hrtimer_start(&timer, ktime_sub_ns(ktime_set(ktime_get_real_seconds() + 2, 0), ahead), HRTIMER_MODE_ABS_HARD);
	return 0;
}

static void __exit rig_pps_exit(void)
{
	hrtimer_cancel(&timer);
	pps_unregister_source(pps);
}

module_init(rig_pps_init);
module_exit(rig_pps_exit);
MODULE_DESCRIPTION("Pulses of a clock that is ahead of the system's");
MODULE_LICENSE("GPL");
