/* Descriptor sets: from a FileDescriptorSet on disk to a DefPool.
 *
 * upb wants every file after the files it imports; a set may have them in any order, so they are sorted here,
 * without recursion. What upb would refuse with few words (a file twice, an import that is not there, a
 * cycle) is told in full. The commands find their message types here too.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "google/protobuf/descriptor.upb.h"
#include "upb/wire/decode.h"

typedef enum node_state { NODE_NEW, NODE_OPEN, NODE_DONE } node_state;

/* One file of the set. Nodes are sorted by name. */
typedef struct node {
  upb_StringView name;
  const google_protobuf_FileDescriptorProto *proto;
  node_state state;
  size_t next; /* the import to look at next */
  struct node *importer;
} node;

static int compare_names(upb_StringView a, upb_StringView b) {
  int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);
  return order ? order : (a.size > b.size) - (a.size < b.size);
}

static int compare_nodes(const void *a, const void *b) {
  return compare_names(((const node *)a)->name, ((const node *)b)->name);
}

static node *find_node(node *nodes, size_t count, upb_StringView name) {
  node key = {.name = name};
  return (node *)bsearch(&key, nodes, count, sizeof *nodes, compare_nodes);
}

static bool out_of_memory(const bjvmi_descriptors *schema) {
  bjvmi_report(schema->name, "out of memory");
  return false;
}

/* A printable piece of a name: at most 500 bytes, for "%.*s". */
#define NAME(view) (int)((view).size < 500 ? (view).size : 500), (view).data

static bool add_file(bjvmi_descriptors *schema, const node *n) {
  upb_Status status;
  upb_Status_Clear(&status);
  const upb_FileDef *file = upb_DefPool_AddFile(schema->pool, n->proto, &status);
  if (!file) {
    bjvmi_report(schema->name, "in '%.*s': %s", NAME(n->name), upb_Status_ErrorMessage(&status));
    return false;
  }
  schema->files[schema->file_count++] = file;
  return true;
}

/* The next import of *at: goes down into it, or if there is none adds the file and goes back up. */
static bool step(bjvmi_descriptors *schema, node *nodes, size_t count, node **at) {
  node *n = *at;
  size_t import_count;
  const upb_StringView *imports = google_protobuf_FileDescriptorProto_dependency(n->proto, &import_count);
  n->state = NODE_OPEN;
  if (n->next == import_count) {
    n->state = NODE_DONE;
    *at = n->importer;
    return add_file(schema, n);
  }
  upb_StringView import = imports[n->next++];
  node *found = find_node(nodes, count, import);
  if (!found) {
    bjvmi_report(schema->name,
                 "'%.*s' imports '%.*s', which is not in the set (make it with --include_imports)",
                 NAME(n->name), NAME(import));
    return false;
  }
  if (found->state == NODE_OPEN) {
    bjvmi_report(schema->name, "'%.*s' imports '%.*s', which imports it in turn", NAME(n->name),
                 NAME(import));
    return false;
  }
  if (found->state == NODE_NEW) {
    found->importer = n;
    *at = found;
  }
  return true;
}

static bool add_all(bjvmi_descriptors *schema, node *nodes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (node *at = nodes[i].state == NODE_NEW ? &nodes[i] : NULL; at;) {
      if (!step(schema, nodes, count, &at)) return false;
    }
  }
  return true;
}

static bool load_set(bjvmi_descriptors *schema, const google_protobuf_FileDescriptorSet *set) {
  size_t count;
  const google_protobuf_FileDescriptorProto *const *files =
      google_protobuf_FileDescriptorSet_file(set, &count);
  if (!count) {
    bjvmi_report(schema->name, "the descriptor set has no files");
    return false;
  }
  node *nodes = (node *)upb_Arena_Malloc(schema->arena, count * sizeof *nodes);
  schema->files = (const upb_FileDef **)upb_Arena_Malloc(schema->arena, count * sizeof(upb_FileDef *));
  if (!nodes || !schema->files) return out_of_memory(schema);
  for (size_t i = 0; i < count; i++) {
    nodes[i] = (node){.name = google_protobuf_FileDescriptorProto_name(files[i]), .proto = files[i]};
  }
  qsort(nodes, count, sizeof *nodes, compare_nodes);
  for (size_t i = 1; i < count; i++) {
    if (compare_nodes(&nodes[i - 1], &nodes[i]) != 0) continue;
    bjvmi_report(schema->name, "the descriptor set has '%.*s' twice", NAME(nodes[i].name));
    return false;
  }
  return add_all(schema, nodes, count);
}

bool bjvmi_descriptors_open(bjvmi_descriptors *schema, const char *path) {
  *schema = (bjvmi_descriptors){.name = path};
  bjvmi_file file;
  if (!bjvmi_file_read(&file, path)) return false;
  schema->name = file.name;
  schema->arena = upb_Arena_New();
  schema->pool = upb_DefPool_New();
  bool ok = schema->arena && schema->pool ? true : out_of_memory(schema);
  google_protobuf_FileDescriptorSet *set =
      ok ? google_protobuf_FileDescriptorSet_parse(file.data, file.size, schema->arena) : NULL;
  if (ok && !set) bjvmi_report(schema->name, "not a FileDescriptorSet in protobuf binary");
  ok = set && load_set(schema, set);
  bjvmi_file_free(&file);
  return ok;
}

void bjvmi_descriptors_close(bjvmi_descriptors *schema) {
  if (schema->pool) upb_DefPool_Free(schema->pool);
  if (schema->arena) upb_Arena_Free(schema->arena);
  *schema = (bjvmi_descriptors){0};
}

/* -- Types ---------------------------------------------------------------------------------------------- */

/* As deep as descriptors nest, which upb's decoder has bounded. */
static void offer_nested(bjvmi_nearest *nearest, const upb_MessageDef *message) {
  if (upb_MessageDef_IsMapEntry(message)) return;
  bjvmi_nearest_offer(nearest, upb_MessageDef_FullName(message));
  for (int i = 0; i < upb_MessageDef_NestedMessageCount(message); i++) {
    offer_nested(nearest, upb_MessageDef_NestedMessage(message, i));
  }
}

static void unknown_type(const bjvmi_descriptors *schema, const char *type) {
  bjvmi_nearest nearest = {.word = type};
  for (size_t i = 0; i < schema->file_count; i++) {
    for (int k = 0; k < upb_FileDef_TopLevelMessageCount(schema->files[i]); k++) {
      offer_nested(&nearest, upb_FileDef_TopLevelMessage(schema->files[i], k));
    }
  }
  bjvmi_report(schema->name, "no message type '%s' in the set%s", type, bjvmi_nearest_hint(&nearest, ""));
}

const upb_MessageDef *bjvmi_descriptors_find(const bjvmi_descriptors *schema, const char *type) {
  if (type[0] == '.') type++;
  const upb_MessageDef *message = upb_DefPool_FindMessageByName(schema->pool, type);
  if (!message) {
    unknown_type(schema, type);
    return NULL;
  }
  if (upb_MessageDef_IsMapEntry(message)) {
    bjvmi_report(schema->name, "'%s' is the entry of a map field and no message of its own", type);
    return NULL;
  }
  return message;
}
