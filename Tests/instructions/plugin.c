// SPDX-License-Identifier: Apache-2.0
// Counts the instructions that a program executes, in qemu-user: each translated block adds its number of instructions whenever it is
// executed. Declarations of qemu-plugin.h, API version 1 (QEMU's "TCG Plugins"); Debian 12 has no package with that header.
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t plugin, void (*translated)(qemu_plugin_id_t, struct qemu_plugin_tb *));
// The only operation is 0: add to the number at `place`.
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int operation, void *place, uint64_t addend);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t plugin, void (*ended)(qemu_plugin_id_t, void *), void *data);

int qemu_plugin_version = 1;
static uint64_t instructions;

static void translated(qemu_plugin_id_t plugin, struct qemu_plugin_tb *block) {
  qemu_plugin_register_vcpu_tb_exec_inline(block, 0, &instructions, qemu_plugin_tb_n_insns(block));
}

static void ended(qemu_plugin_id_t plugin, void *data) { fprintf(stderr, "instructions %" PRIu64 "\n", instructions); }

int qemu_plugin_install(qemu_plugin_id_t plugin, const void *info, int count, char **arguments) {
  qemu_plugin_register_vcpu_tb_trans_cb(plugin, translated);
  qemu_plugin_register_atexit_cb(plugin, ended, NULL);
  return 0;
}
