// The C++ half of the peer simdjson; built only where the library and a C++ compiler are.
//
// Reading is its DOM, the like of yyjson_read: the on-demand interface skips what nobody asks for, and asking for
// everything takes a schema. Parser and string builder are kept, so their memory is warm and nothing is allocated while
// timed. simdjson::minify, its public way to print, is this string builder with a copy into a new std::string behind it.
#include "peer_simdjson.h"

#include <simdjson.h>

#include <memory>
#include <new>
#include <string_view>
#include <vector>

struct simdjson_state {
  simdjson::dom::parser parser;
  simdjson::internal::string_builder<> printer;
  std::vector<simdjson::dom::document> documents;
};

simdjson_state *simdjson_state_new(const bench_text *texts, size_t count) try {
  auto state = std::make_unique<simdjson_state>();
  state->documents.resize(count);
  for (size_t i = 0; i < count; i++) {
    simdjson::dom::element root;
    if (state->parser.parse_into_document(state->documents[i], texts[i].data, texts[i].size, false).get(root))
      return nullptr;
  }
  return state.release();
} catch (const std::bad_alloc &) {
  return nullptr;
}

void simdjson_state_free(simdjson_state *state) { delete state; }

bool simdjson_read(simdjson_state *state, const bench_text *texts, size_t first, size_t count) {
  bool ok = true;
  for (size_t i = first; i < first + count; i++) {
    simdjson::dom::element root;
    // false: the padding is there, no copy is wanted.
    ok &= !state->parser.parse(texts[i].data, texts[i].size, false).get(root);
  }
  return ok;
}

void simdjson_print(simdjson_state *state, size_t first, size_t count, bench_text *text) {
  std::string_view printed;
  for (size_t i = first; i < first + count; i++) {
    state->printer.clear();
    state->printer.append(state->documents[i].root());
    printed = state->printer.str();
  }
  *text = bench_text{printed.data(), printed.size()};
}
