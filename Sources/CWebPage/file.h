// A step of `web_page_file`: returns PAGE if its turn has come. The compiler lists PAGE among the files that it read, so
// that SwiftPM compiles the list anew when PAGE changes.
{
    static const unsigned char bytes[] = {
#embed PATH(PAGE)
    };
    if (number-- == 0) return (struct web_page_file){NAME(PAGE), bytes, sizeof bytes};
}
#undef PAGE
