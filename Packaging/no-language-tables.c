/* The data file of ICU with nothing in it, in the place of the tables for the world's languages and calendars, which are 34 MB of Foundation and
 * of which no program here uses anything (Docs/Decisions/0034-one-program-under-three-names.md).
 *
 * The form is ICU's own for a library without data: a header that ends after 32 bytes, and a table of contents that counts no entries
 * (unicode-org/icu, icu4c/source/stubdata, and UDataInfo in icu4c/source/common/unicode/udata.h). TABLES is the name under which
 * the linker looks for it instead of the real one.
 */
struct header {
    unsigned short size;
    unsigned char magic[2];
    unsigned short infoSize, reserved;
    unsigned char isBigEndian, charsetFamily, characterSize, reservedToo;
    unsigned char format[4], formatVersion[4], dataVersion[4];
    unsigned char padding[8];
    unsigned int count, none[5];
};

extern const struct header TABLES;
const struct header TABLES __attribute__((aligned(16))) = {
    .size = 32,
    .magic = {0xDA, 0x27},
    .infoSize = 20,
    .characterSize = 2,
    .format = {'T', 'o', 'C', 'P'},
    .formatVersion = {1},
};
