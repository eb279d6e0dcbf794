import CWebPage
import Cryptography
import Domain
import Hummingbird
import Synchronization

/// The page's files in memory. Requests are looked up in a list, so no path can reach other files.
package struct WebFiles: Sendable {
    package final class File: Sendable {
        private let contentType: String
        private let content: @Sendable () -> [UInt8]
        /// Nil until the first request, because most runs of meterd serve no browser. Compressing at start took an
        /// eighth of the time to the first reading.
        private let forms = Mutex<Forms?>(nil)

        package init(contentType: String, bytes: @autoclosure @escaping @Sendable () -> [UInt8]) {
            self.contentType = contentType
            content = bytes
        }

        /// Returns 304 if the browser's copy is current.
        func response(to request: Request) -> Response {
            let forms = forms.withLock { forms in
                let ready = forms ?? Forms(content())
                forms = ready
                return ready
            }
            var headers: HTTPFields = [
                .contentType: contentType, .cacheControl: "no-cache", .eTag: forms.etag, .vary: "Accept-Encoding",
            ]
            if request.headers[.ifNoneMatch]?.contains(forms.etag) == true {
                return Response(status: .notModified, headers: headers)
            }
            guard let gzip = forms.gzip, request.acceptsGzip else {
                return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: forms.bytes))
            }
            headers[.contentEncoding] = "gzip"
            return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: gzip))
        }
    }

    private struct Forms: Sendable {
        let bytes: ByteBuffer
        /// Nil if compression does not reduce the size.
        let gzip: ByteBuffer?
        /// Weak, because the plain and the compressed form share it.
        let etag: String

        init(_ content: [UInt8]) {
            bytes = ByteBuffer(bytes: content)
            gzip = Gzip.compress(content, .best).map { ByteBuffer(bytes: $0) }
            etag = "W/\"\(Hex.encode(SHA256.digest(content).prefix(8)))\""
        }
    }

    private let files: [String: File]

    /// - Parameter files: by path, such as `/app.js`; `/` is the page itself.
    package init(_ files: [String: File]) { self.files = files }

    package func file(at path: String) -> File? { files[path] }

    /// Returns the files that are built into the program, in its read-only data.
    package static func built() -> WebFiles {
        var files: [String: File] = [:]
        for number in 0... {
            guard let name = web_page_file(number).name.map({ String(cString: $0) }) else { break }
            files[name == "index.html" ? "/" : "/\(name)"] = File(
                contentType: contentType(of: name), bytes: bytes(ofFile: number))
        }
        return WebFiles(files)
    }

    private static func bytes(ofFile number: Int) -> [UInt8] {
        let file = web_page_file(number)
        return Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }

    private static func contentType(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "css": "text/css; charset=utf-8"
        case "html": "text/html; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        case "webmanifest": "application/manifest+json"
        default: "application/octet-stream"
        }
    }
}
