import Crypto
import FoundationEssentials
import Hummingbird
import MeterModel

/// The page's files, all in memory: what is asked for is looked up in a list, and no path leads out of it.
package struct WebFiles: Sendable {
    /// One file as it is sent.
    package struct File: Sendable {
        let contentType: String
        let bytes: ByteBuffer
        /// The same, shorter; nil where it cannot be.
        let gzip: ByteBuffer?
        /// Weak, as it is the same for both forms.
        let etag: String

        package init(contentType: String, bytes: [UInt8]) {
            self.contentType = contentType
            self.bytes = ByteBuffer(bytes: bytes)
            gzip = Gzip.compress(bytes).map { ByteBuffer(bytes: $0) }
            etag = "W/\"\(Hex.encode(SHA256.hash(data: Data(bytes)).prefix(8)))\""
        }

        /// The file, or that it has not changed since the browser got it.
        func response(to request: Request) -> Response {
            var headers: HTTPFields = [
                .contentType: contentType, .cacheControl: "no-cache", .eTag: etag, .vary: "Accept-Encoding",
            ]
            if request.headers[.ifNoneMatch]?.contains(etag) == true {
                return Response(status: .notModified, headers: headers)
            }
            guard let gzip, Self.takesGzip(request.headers[.acceptEncoding]) else {
                return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: bytes))
            }
            headers[.contentEncoding] = "gzip"
            return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: gzip))
        }

        /// Whether an `Accept-Encoding` names it, and does not name it to refuse it.
        private static func takesGzip(_ header: String?) -> Bool {
            (header ?? "").lowercased().split(separator: ",").contains { coding in
                let parts = coding.split(separator: ";").map { $0.filter { $0 != " " } }
                return parts.first == "gzip"
                    && !parts.dropFirst().contains { $0.hasPrefix("q=0") && Double($0.dropFirst(2)) == 0 }
            }
        }
    }

    private let files: [String: File]

    /// - Parameter files: by path, `/app.js`; `/` is the page itself.
    package init(_ files: [String: File]) { self.files = files }

    package func file(at path: String) -> File? { files[path] }

    /// Whether the chart library is among them.
    package var hasCharts: Bool { files["/lib/dygraph.js"] != nil }

    /// The page as it is built into this program, with the chart library where this machine has it.
    ///
    /// - Parameter libraryFolder: where Debian's libjs-dygraphs puts its files.
    package static func built(libraryFolder: String = "/usr/share/javascript/dygraphs") -> WebFiles {
        var files: [String: File] = [:]
        for (path, contentType, bytes) in WebPageFiles.all {
            files[path] = File(contentType: contentType, bytes: bytes)
        }
        for (path, name, contentType) in library {
            // Without it the page works but for its charts, and says what to install.
            guard let data = try? Data(contentsOf: URL(filePath: "\(libraryFolder)/\(name)")) else { continue }
            files[path] = File(contentType: contentType, bytes: Array(data))
        }
        return WebFiles(files)
    }

    private static let library = [
        ("/lib/dygraph.js", "dygraph.min.js", "text/javascript; charset=utf-8"),
        ("/lib/dygraph.css", "dygraph.min.css", "text/css; charset=utf-8"),
    ]
}
