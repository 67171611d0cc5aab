/* Texts for tests that try the same thing on every sort of value. */
#ifndef BJVM_TESTS_SAMPLES_H_
#define BJVM_TESTS_SAMPLES_H_

typedef struct sample {
  const char *type;
  const char *json;
} sample;

/* Between them every sort of token, name and end. */
static const sample samples[] = {
    {"cases.v3.T", "{\"i32\":-2147483648,\"u32\":4294967295,\"i64\":\"-9223372036854775808\",\"u64\":"
                   "\"18446744073709551615\","
                   "\"fl\":1.5e-3,\"db\":\"-Infinity\",\"ok\":true,\"str\":\"a\\u00e9\\ud83d\\ude80b\","
                   "\"raw\":\"AAECAwQF\","
                   "\"color\":\"BLUE\",\"sub\":{\"mini\":{\"n\":1}},\"sparse\":2147483647,\"quiet\":{}}"},
    {"cases.v3.T", " { \"str\" : \"0123456789012345678901234567890123456789012345678901234567890123456789\" "
                   ",\t\"ok\":false\n}\r\n"},
    {"cases.v3.Rep", "{\"i32\":[1,22,333,-4444],\"str\":[\"\",\"x\",\"\\n\"],\"ok\":[true,false],\"mini\":[{}"
                     ",{\"n\":7,\"s\":\"z\"}],"
                     "\"db\":[0.1,1e300],\"raw\":[\"\",\"AA==\"],\"color\":[\"RED\",3]}"},
    {"cases.v3.Maps", "{\"kI32\":{\"1\":2,\"-3\":4},\"kOk\":{\"true\":1},\"vStr\":{\"a\":\"b\",\"\\u0063\":"
                      "\"d\"},\"vMini\":{\"k\":{\"n\":1}}}"},
    {"cases.v3.One", "{\"pb\":\"text\",\"outside\":5,\"sb\":\"second\"}"},
    {"cases.v3.Wkt", "{\"ts\":\"2001-02-03T04:05:06.789Z\",\"du\":\"-1.5s\",\"st\":{\"a\":[1,true,null,\"s\","
                     "{}]},\"val\":[[]],\"fm\":\"a.bC,d\","
                     "\"wl\":\"12\",\"em\":{},\"any\":{\"n\":5,\"@type\":\"t/cases.v3.Mini\"}}"},
    {"cases.v2.P2",
     "{\"grp\":{\"g\":1,\"deeper\":{\"d\":2}},\"[cases.v2.ext_list]\":[1,2],\"shade\":\"MID\"}"},
    {"google.protobuf.Int32Value", "123456789"},
    {"google.protobuf.Value", "\"lone\""},
    {"google.protobuf.ListValue", "[1.25,[],{}]"},
    /* Tokens longer than what can be read without looking for the end. */
    {"cases.v3.Maps",
     "{\"kStr\":{\"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\":1,"
     "\"\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\":2},\"vStr\":{"
     "\"01234567890123456789012345678901234567890123456789012345678901234567890123456789\":"
     "\"01234567890123456789012345678901234567890123456789012345678901234567890123456789\"}}"},
    {"google.protobuf.Struct",
     "{\"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\":"
     "\"01234567890123456789012345678901234567890123456789012345678901234567890123456789\","
     "\"01234567890123456789012345678901234567890123456789012345678901234567890123456789\":1."
     "1111111111111111111111111111111111111111111111111111111111111111111111}"},
    {"cases.v3.T",
     "{\"db\":0.333333333333333333333333333333333333333333333333333333333333333333,\"raw\":"
     "\"QUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJD\",\"str\":"
     "\"\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\"
     "n\"}"},
};
enum { SAMPLES = sizeof samples / sizeof *samples };

#endif
