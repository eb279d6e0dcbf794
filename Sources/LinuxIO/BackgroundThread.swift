import Glibc

/// Runs work that may block, outside the loop and Swift's small thread pool.
package enum BackgroundThread {
    /// Runs `body` on a new thread, or on the calling one if that fails.
    package static func run(_ body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Box(body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        if code == 0 {
            pthread_detach(thread)
        } else {
            box.takeRetainedValue().body()
        }
    }

    private final class Box {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
