package import Domain
import FoundationEssentials
import Gateway
import LinuxIO
import NIOCore

/// The time series database in `[influx]` of the configuration.
package struct InfluxTarget: Hashable, Sendable {
    package enum Place: Hashable, Sendable {
        /// Bucket of InfluxDB 2 and later; VictoriaMetrics accepts the same API.
        case bucket(String, org: String?)
        /// Database of InfluxDB 1; VictoriaMetrics accepts the same API.
        case database(String)
    }

    /// The server's URL without `/api/v2/write` or `/write`.
    package var address: NotificationAddress
    package var place: Place
    /// User name for the password in the file at `tokenPath`; nil if that file holds an access token.
    package var user: String?
    package var tokenPath: String?
    package var limit = NotificationTarget.limitDefault

    package init(address: NotificationAddress, place: Place) {
        self.address = address
        self.place = place
    }

    /// Identity of the destination, distinct for each URL, bucket and database. The URL's path may be a secret, so
    /// store this text only in a file for its owner alone.
    package var identity: String {
        switch place {
        case .bucket(let bucket, let org): "\(address.text) bucket \(org ?? "") \(bucket)"
        case .database(let name): "\(address.text) database \(name)"
        }
    }
}

/// Sends points by HTTP (<https://docs.influxdata.com/influxdb/v2/api/v2/#operation/PostWrite>,
/// <https://docs.influxdata.com/influxdb/v1/tools/api/#write-http-endpoint>,
/// <https://docs.victoriametrics.com/victoriametrics/integrations/influxdb/>).
package struct InfluxWriter: PointSink {
    private let target: InfluxTarget

    package init(_ target: InfluxTarget) { self.target = target }

    package func send(_ lines: [UInt8]) async -> SendAnswer {
        var request = OutgoingRequest(
            url: url, headers: ["content-type": "text/plain; charset=utf-8"], body: ByteBuffer(bytes: lines))
        request.answerBytesMax = 1000
        var secrets = [base.dropFirst(target.address.server.count)].map(String.init)
        if let path = target.tokenPath {
            do throws(SecretToken.Problem) {
                let secret = try SecretToken(file: path).text
                secrets += [secret, encoded(secret)]
                request.headers["authorization"] = authorization(secret)
            } catch {
                return .refused(error.message, next: "correct the file or [influx] token-file")
            }
        }
        return Self.verdict(on: await request.send(within: target.limit), hiding: secrets)
    }

    private var base: String {
        target.address.text.hasSuffix("/") ? String(target.address.text.dropLast()) : target.address.text
    }

    private var url: String {
        switch target.place {
        case .bucket(let bucket, let org):
            let owner = org.map { "&org=\($0.percentEncoded)" } ?? ""
            return "\(base)/api/v2/write?bucket=\(bucket.percentEncoded)\(owner)&precision=ms"
        case .database(let name): return "\(base)/write?db=\(name.percentEncoded)&precision=ms"
        }
    }

    /// Returns the `Authorization` header. InfluxDB 2 needs `Token`
    /// (<https://docs.influxdata.com/influxdb/v2/api/v2/#section/Authentication>), InfluxDB 1 `Basic`
    /// (<https://docs.influxdata.com/influxdb/v1/administration/authentication_and_authorization/>), and a proxy of
    /// VictoriaMetrics `Bearer` or `Basic` (<https://docs.victoriametrics.com/victoriametrics/vmauth/>).
    private func authorization(_ secret: String) -> String {
        if target.user != nil { return "Basic \(encoded(secret))" }
        if case .bucket = target.place { return "Token \(secret)" }
        return "Bearer \(secret)"
    }

    private func encoded(_ password: String) -> String {
        Data("\(target.user ?? ""):\(password)".utf8).base64EncodedString()
    }

    /// Maps the server's HTTP response to a result. Status codes:
    /// <https://docs.influxdata.com/influxdb/v2/write-data/troubleshoot/> and
    /// <https://docs.influxdata.com/influxdb/v1/tools/api/#write-http-endpoint>. VictoriaMetrics answers 400 to an
    /// unknown URL (seen with 1.79.5).
    ///
    /// - Parameter secrets: texts to hide in the server's message, such as the URL's path.
    private static func verdict(on outcome: OutgoingRequest.Outcome, hiding secrets: [String]) -> SendAnswer {
        let (status, delay, answer): (UInt, Duration?, String)
        switch outcome {
        case .failed(let reason): return .later(after: nil, reason)
        case .answered(let code, let retryAfter, let text): (status, delay, answer) = (code, retryAfter, text)
        }
        let body = secrets.filter { !$0.isEmpty }.reduce(answer) { $0.replacing($1, with: "…") }
        let cause = "it answered \(status)\(message(in: body).map { ": \($0)" } ?? "")"
        switch status {
        case 200..<300: return .taken
        case 400, 422:
            // InfluxDB 1, 2 and 3 answer "partial write" if they stored only the valid points (PartialWriteError in
            // influxdata/influxdb, tsdb/store.go).
            return body.contains("partial write") ? .partly(dropped: dropped(in: body), cause) : .unwanted(cause)
        case 413: return .tooLarge
        case 401, 403: return .refused(cause, next: "correct the token, or what it may write to")
        case 404:
            return .refused(
                cause, next: "see whether there is such a bucket or database; url is what comes before /api or /write")
        case 300..<400: return .refused("\(cause), another address", next: "correct [influx] url")
        case 408, 425, 429, 500...:
            return .later(
                after: delay, cause, next: "see what the server's own log says; meterd tries again by itself")
        default: return .refused(cause, next: "correct [influx] url")
        }
    }

    private static func dropped(in body: String) -> Int? {
        guard let found = body.firstRange(of: "dropped=") else { return nil }
        return Int(body[found.upperBound...].prefix { $0.isASCII && $0.isNumber })
    }

    private static func message(in body: String) -> String? {
        let line = body.split(whereSeparator: \.isNewline).joined(separator: " ").prefix(200).visible
        return line.isEmpty ? nil : line
    }
}
