/* A plugin for QEMU's user emulation that counts the instructions a program executes and prints their number
 * to standard error when it ends.
 *
 * Declares what it uses of QEMU's plugin API, version 1, itself: Debian packages no header for it.
 * Source: QEMU documentation, "QEMU TCG Plugins".
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PUBLIC __attribute__((visibility("default")))

typedef uint64_t plugin_id;
typedef struct qemu_plugin_tb block;
typedef struct qemu_plugin_insn instruction;
enum operation { ADD_U64 };

size_t qemu_plugin_tb_n_insns(const block *);
instruction *qemu_plugin_tb_get_insn(const block *, size_t index);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, block *));
void qemu_plugin_register_vcpu_insn_exec_inline(instruction *, enum operation, void *counter, uint64_t by);
void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);

PUBLIC int qemu_plugin_version = 1;
PUBLIC int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);

static uint64_t executed;

static void translate(plugin_id id, block *b) {
  (void)id;
  size_t n = qemu_plugin_tb_n_insns(b);
  for (size_t i = 0; i < n; i++)
    qemu_plugin_register_vcpu_insn_exec_inline(qemu_plugin_tb_get_insn(b, i), ADD_U64, &executed, 1);
}

static void report(plugin_id id, void *unused) {
  (void)id;
  (void)unused;
  fprintf(stderr, "%" PRIu64 "\n", executed);
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
  (void)info;
  (void)argc;
  (void)argv;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  qemu_plugin_register_atexit_cb(id, report, NULL);
  return 0;
}
