// One step of `web_page_file`: returns PAGE if its turn has come. Clang lists PAGE as a dependency, so SwiftPM compiles
// CWebPage.c again after an edit of PAGE.
{
    static const unsigned char bytes[] = {
#embed PATH(PAGE)
    };
    if (number-- == 0) return (struct web_page_file){NAME(PAGE), bytes, sizeof bytes};
}
#undef PAGE
