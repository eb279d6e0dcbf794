import Cryptography
import Hummingbird
import MeterModel

/// The page's files, all in memory: requests are looked up in a list, so no path leads out of it.
package struct WebFiles: Sendable {
    /// One file to be sent.
    package struct File: Sendable {
        let contentType: String
        let bytes: ByteBuffer
        /// The compressed form, if that is shorter.
        let gzip: ByteBuffer?
        /// Weak, because both forms share it.
        let etag: String

        package init(contentType: String, bytes: [UInt8]) {
            self.contentType = contentType
            self.bytes = ByteBuffer(bytes: bytes)
            gzip = Gzip.compress(bytes, .best).map { ByteBuffer(bytes: $0) }
            etag = "W/\"\(Hex.encode(SHA256.digest(bytes).prefix(8)))\""
        }

        /// The file, or that it has not changed since the browser got it.
        func response(to request: Request) -> Response {
            var headers: HTTPFields = [
                .contentType: contentType, .cacheControl: "no-cache", .eTag: etag, .vary: "Accept-Encoding",
            ]
            if request.headers[.ifNoneMatch]?.contains(etag) == true {
                return Response(status: .notModified, headers: headers)
            }
            guard let gzip, request.acceptsGzip else {
                return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: bytes))
            }
            headers[.contentEncoding] = "gzip"
            return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: gzip))
        }
    }

    private let files: [String: File]

    /// - Parameter files: by path, such as `/app.js`; `/` is the page itself.
    package init(_ files: [String: File]) { self.files = files }

    package func file(at path: String) -> File? { files[path] }

    /// The page built into this program.
    package static func built() -> WebFiles {
        var files: [String: File] = [:]
        for (path, contentType, bytes) in WebPageFiles.all {
            files[path] = File(contentType: contentType, bytes: bytes)
        }
        return WebFiles(files)
    }
}
