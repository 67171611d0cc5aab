/* The program planc: picks the subcommand and runs it.
 *
 * options.c reads the rest of the command line, cmd_*.c do the work. Exit codes: 0 done, 1 bad input, 2 bad
 * usage. A command runs in a thread of its own with a stack that upb's recursive binary codec cannot use up,
 * whatever --max-depth allows.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#ifndef BJVM_VERSION
#define BJVM_VERSION "(no version)"
#endif

#define CODEC_USAGE "--descriptor-set FILE --type NAME | --plan FILE.bjp [--type NAME]  [options] [FILE]"
#define STREAM_TEXT                                                                                          \
  "With --stream many: binary messages each behind its length as a varint, JSON with one message a\n"        \
  "line. The first bad one ends the run with an error that tells its number; those before it have been\n"    \
  "written. With --plan and no --descriptor-set the plan file must have mini descriptors, and types and\n"   \
  "extensions that were not compiled into it are unknown.\n\n"
#define CODEC_FLAGS                                                                                          \
  "Both encode and decode accept the flags of either, so that one set can be passed to both;\n"              \
  "those marked with the other command's name change nothing here.\n"

static const bjvmi_command commands[] = {
    {"compile", BJVMI_FOR_COMPILE,
     "--descriptor-set FILE | FILE.proto...  --type NAME [--type NAME...] [options]",
     "compile message types into a plan file",
     "Compiles the message types and all types they refer to into one plan file (.bjp), each once. It is\n"
     "loaded and verified again before it is written, and a file given with -o is replaced only when all\n"
     "is well. FILE.proto is compiled by the protoc or buf on PATH.\n\n"
     "  planc compile --descriptor-set api.binpb --type acme.Order -o order.bjp\n"
     "  planc compile -I proto proto/order.proto --type acme.Order --mini-descriptors -o order.bjp\n"
     "  planc compile --descriptor-set api.binpb --type acme.Order --type acme.Reply --abi=32 \\\n"
     "      --emit=c -o plans.c --header plans.h --symbol acme_plans --depfile plans.d\n"
     "  planc compile --descriptor-set api.binpb --type acme.Order --emit=asm -o order.S   (and "
     "order.bjp)\n\n"
     "The array of --emit is aligned for bjvm_image_load; the macros of the header begin with its name.\n",
     bjvmi_cmd_compile},
    {"dump", BJVMI_FOR_DUMP,
     "[FILE.bjp] | (--descriptor-set FILE | FILE.proto...) --type NAME [--type NAME...] [options]",
     "list what a plan file holds",
     "Prints a listing of a plan file, or of the plan that compile would make. Without FILE.bjp, or when it\n"
     "is -, the plan file is read from standard input, unless that is a terminal.\n",
     bjvmi_cmd_dump},
    {"verify", BJVMI_FOR_VERIFY, "FILE.bjp...", "check plan files",
     "Checks plan files completely and prints one line for each; of one that is not valid the first fault\n"
     "and its place in the file. Exits with 1 if there is one.\n",
     bjvmi_cmd_verify},
    {"encode", BJVMI_FOR_ENCODE, CODEC_USAGE, "protobuf binary to JSON",
     "Reads one message in protobuf binary from FILE or standard input and prints it as JSON with a\n"
     "newline at the end. Nothing is written on failure.\n\n" STREAM_TEXT CODEC_FLAGS,
     bjvmi_cmd_encode},
    {"decode", BJVMI_FOR_DECODE, CODEC_USAGE, "JSON to protobuf binary",
     "Reads one JSON value from FILE or standard input and writes the message in protobuf binary.\n"
     "Nothing is written on failure.\n\n" STREAM_TEXT CODEC_FLAGS,
     bjvmi_cmd_decode},
    {"lint", BJVMI_FOR_LINT, "--descriptor-set FILE", "names of a schema that are easily mixed up",
     "Lists field names of a descriptor set that collide in JSON, differ only in case or Unicode form, or\n"
     "hold what cannot be seen. Exits with 1 if there are any.\n",
     bjvmi_cmd_lint},
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

/* -- Help ----------------------------------------------------------------------------------------------- */

/* Help that could not be written is a failure like any other. */
static int finish_output(void) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return BJVMI_EXIT_DONE;
  bjvmi_report("<stdout>", "cannot write");
  return BJVMI_EXIT_BAD_INPUT;
}

static int print_overview(void) {
  printf("Usage: planc COMMAND [options]\n\n"
         "Plans for the JSON form of Protocol Buffers messages, and messages from one form to the other.\n\n"
         "Commands:\n");
  for (const bjvmi_command *c = commands; c < commands + COMMAND_COUNT; c++) {
    printf("  %-10s %s\n", c->name, c->summary);
  }
  printf("\nplanc COMMAND --help tells more; planc --version prints the version.\n"
         "Exit status: 0 done, 1 bad input, 2 bad usage.\n");
  return finish_output();
}

static int print_help(const bjvmi_command *command) {
  printf("Usage: planc %s %s\n\n%s\nOptions:\n", command->name, command->usage, command->text);
  bjvmi_options_help(command);
  printf("\nAn option's value may follow after a blank or after '='. Exit status: 0 done, 1 bad input, 2 bad "
         "usage.\n");
  return finish_output();
}

/* -- Running -------------------------------------------------------------------------------------------- */

typedef struct job {
  const bjvmi_command *command;
  const bjvmi_options *options;
  int code;
} job;

static void *run_job(void *context) {
  job *j = (job *)context;
  j->code = j->command->run(j->options);
  return NULL;
}

static int run_with_stack(const bjvmi_command *command, const bjvmi_options *options) {
  job j = {command, options, BJVMI_EXIT_BAD_INPUT};
  pthread_attr_t attributes;
  pthread_t thread;
  if (pthread_attr_init(&attributes) != 0) return command->run(options);
  bool started = pthread_attr_setstacksize(&attributes, BJVMI_STACK_SIZE) == 0 &&
                 pthread_create(&thread, &attributes, run_job, &j) == 0;
  pthread_attr_destroy(&attributes);
  if (!started)
    return command->run(options); /* an address space limit; the usual stack does for usual depths */
  pthread_join(thread, NULL);
  return j.code;
}

static int run_command(const bjvmi_command *command, int argc, char **argv) {
  bjvmi_options options;
  int code = BJVMI_EXIT_BAD_USAGE;
  if (bjvmi_options_parse(&options, command, argc, argv, 2)) {
    code = options.help ? print_help(command) : run_with_stack(command, &options);
  }
  free(options.types);
  free(options.files);
  free(options.imports);
  return code;
}

static const bjvmi_command *find_command(const char *name) {
  for (const bjvmi_command *c = commands; c < commands + COMMAND_COUNT; c++) {
    if (strcmp(c->name, name) == 0) return c;
  }
  bjvmi_nearest nearest = {.word = name};
  bool is_option = name[0] == '-';
  if (is_option) {
    bjvmi_nearest_offer(&nearest, "--version");
    bjvmi_nearest_offer(&nearest, "--help");
  }
  for (const bjvmi_command *c = commands; !is_option && c < commands + COMMAND_COUNT; c++)
    bjvmi_nearest_offer(&nearest, c->name);
  bjvmi_report("planc", "unknown %s '%s'%s (see planc --help)", is_option ? "option" : "command", name,
               bjvmi_nearest_hint(&nearest, ""));
  return NULL;
}

int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN); /* a reader that went away is a write error, told like any other */
  if (argc < 2) {
    bjvmi_report("planc", "a command is missing (see planc --help)");
    return BJVMI_EXIT_BAD_USAGE;
  }
  const char *word = argv[1];
  bool wants_help = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
  if (wants_help && argc < 3) return print_overview();
  if (strcmp(word, "--version") == 0) {
    printf("planc " BJVM_VERSION "\n");
    return finish_output();
  }
  const bjvmi_command *command = find_command(wants_help ? argv[2] : word);
  if (!command) return BJVMI_EXIT_BAD_USAGE;
  return wants_help ? print_help(command) : run_command(command, argc, argv);
}
