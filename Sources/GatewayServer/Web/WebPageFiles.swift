/// The page's files as built into this program: path, media type, bytes.
enum WebPageFiles {
    static let all: [(path: String, contentType: String, bytes: [UInt8])] = [
        ("/", "text/html; charset=utf-8", PackageResources.index_html),
        ("/app.css", "text/css; charset=utf-8", PackageResources.app_css),
        ("/icon.svg", "image/svg+xml", PackageResources.icon_svg),
        ("/app.js", script, PackageResources.app_js),
        ("/api.js", script, PackageResources.api_js),
        ("/card.js", script, PackageResources.card_js),
        ("/chart.js", script, PackageResources.chart_js),
        ("/dialog.js", script, PackageResources.dialog_js),
        ("/dom.js", script, PackageResources.dom_js),
        ("/freshness.js", script, PackageResources.freshness_js),
        ("/host.js", script, PackageResources.host_js),
        ("/links.js", script, PackageResources.links_js),
        ("/live.js", script, PackageResources.live_js),
        ("/log.js", script, PackageResources.log_js),
        ("/login.js", script, PackageResources.login_js),
        ("/meter.js", script, PackageResources.meter_js),
        ("/meters.js", script, PackageResources.meters_js),
        ("/order.js", script, PackageResources.order_js),
        ("/recordings.js", script, PackageResources.recordings_js),
        ("/rename.js", script, PackageResources.rename_js),
        ("/series.js", script, PackageResources.series_js),
        ("/spark.js", script, PackageResources.spark_js),
        ("/storage.js", script, PackageResources.storage_js),
        ("/words.js", script, PackageResources.words_js),
    ]

    private static let script = "text/javascript; charset=utf-8"
}
