#include "CWebPage.h"

// #embed is C23's. This compiler has it in older C too, and warns that others may not.
#pragma clang diagnostic ignored "-Wc23-extensions"

#define TEXT(characters) #characters
#define NAME(file) TEXT(file)
#define PATH(file) TEXT(../GatewayServer/Page/file)

// The only list of the page's files: a new file needs two lines here. A test compares the list with the folder.
struct web_page_file web_page_file(size_t number) {
#define PAGE index.html
#include "file.h"
#define PAGE app.css
#include "file.h"
#define PAGE icon.svg
#include "file.h"
#define PAGE manifest.webmanifest
#include "file.h"
#define PAGE app.js
#include "file.h"
#define PAGE address.js
#include "file.h"
#define PAGE alertmarks.js
#include "file.h"
#define PAGE alertpanel.js
#include "file.h"
#define PAGE alerts.js
#include "file.h"
#define PAGE api.js
#include "file.h"
#define PAGE batterytest.js
#include "file.h"
#define PAGE card.js
#include "file.h"
#define PAGE chart.js
#include "file.h"
#define PAGE commands.js
#include "file.h"
#define PAGE compare.js
#include "file.h"
#define PAGE dialog.js
#include "file.h"
#define PAGE dom.js
#include "file.h"
#define PAGE draw.js
#include "file.h"
#define PAGE efficiency.js
#include "file.h"
#define PAGE exporting.js
#include "file.h"
#define PAGE freshness.js
#include "file.h"
#define PAGE gapwords.js
#include "file.h"
#define PAGE gestures.js
#include "file.h"
#define PAGE host.js
#include "file.h"
#define PAGE install.js
#include "file.h"
#define PAGE links.js
#include "file.h"
#define PAGE live.js
#include "file.h"
#define PAGE log.js
#include "file.h"
#define PAGE login.js
#include "file.h"
#define PAGE marks.js
#include "file.h"
#define PAGE meter.js
#include "file.h"
#define PAGE meters.js
#include "file.h"
#define PAGE order.js
#include "file.h"
#define PAGE pd.js
#include "file.h"
#define PAGE plot.js
#include "file.h"
#define PAGE quantities.js
#include "file.h"
#define PAGE recordingfiles.js
#include "file.h"
#define PAGE recordingitem.js
#include "file.h"
#define PAGE recordings.js
#include "file.h"
#define PAGE rename.js
#include "file.h"
#define PAGE scale.js
#include "file.h"
#define PAGE series.js
#include "file.h"
#define PAGE settingkinds.js
#include "file.h"
#define PAGE settingrow.js
#include "file.h"
#define PAGE settings.js
#include "file.h"
#define PAGE spark.js
#include "file.h"
#define PAGE storage.js
#include "file.h"
#define PAGE stretch.js
#include "file.h"
#define PAGE surface.js
#include "file.h"
#define PAGE undo.js
#include "file.h"
#define PAGE unsaved.js
#include "file.h"
#define PAGE words.js
#include "file.h"
#define PAGE worker.js
#include "file.h"
    return (struct web_page_file){0};
}
