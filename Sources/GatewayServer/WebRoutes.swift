import Gateway
import GatewayAPI
package import Hummingbird
import ServerKit

/// Routes for the web page and its Firefox Profiler addresses: `/v1/web` and `/v1/profiler`, on the control socket
/// only.
package struct WebRoutes: RouteGroup {
    private let page: WebPage?

    /// - Parameter page: nil if `[web] serve = false`.
    package init(page: WebPage?) { self.page = page }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("web") { _, _ in
            guard let page else {
                return try JSON.response(WebStatus(serving: false, enabled: false, listen: "", urls: []))
            }
            return try JSON.response(await page.status())
        }
        api.post("web") { request, _ in
            let body = try await JSON.decode(WebEnableRequest.self, from: request)
            let (host, port) = try Self.address(body.listen ?? "0.0.0.0:0")
            return try JSON.response(try await served().enable(host: host, port: port))
        }
        api.delete("web") { _, _ in try JSON.response(try await served().disable()) }
        api.post("profiler") { request, _ in
            let body = try await JSON.decode(ProfilerRequest.self, from: request)
            return try JSON.response(try await served().openProfiler(body))
        }
        api.delete("profiler") { _, _ in try JSON.response(try await served().closeProfiler()) }
    }

    private func served() throws(GatewayError) -> WebPage {
        guard let page else {
            throw GatewayError(
                .refused, "this meterd serves no web page", next: "set [web] serve = true in meterd.toml")
        }
        return page
    }

    /// Returns a numeric address and its port. Port 0 means the configured port.
    private static func address(_ text: String) throws(GatewayError) -> (String, Int) {
        guard let (host, port) = IPAddress.hostAndPort(text), IPAddress.bytes(of: host) != nil else {
            throw GatewayError(
                .badRequest, "\"\(text)\" is not an address to listen on",
                next: "it takes address:port in numbers, as 0.0.0.0:8642 or [::]:8642")
        }
        return (host, port)
    }
}
