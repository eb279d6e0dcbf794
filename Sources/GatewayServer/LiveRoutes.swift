package import Hummingbird

/// Server-sent events about changes: `/v1/live`.
package struct LiveRoutes: RouteGroup {
    private let feed: LiveFeed

    package init(feed: LiveFeed) { self.feed = feed }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("live") { request, _ in try await feed.response(for: request) }
    }
}
