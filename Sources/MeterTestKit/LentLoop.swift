package import LinuxIO

package func withLoop<Result>(_ body: (IOLoop) async throws -> Result) async throws -> Result {
    let loop = try IOLoop(name: "test")
    loop.start()
    defer { loop.shutdown() }
    return try await body(loop)
}

extension IOLoop {
    package func perform<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            execute { continuation.resume(with: Swift.Result { try body() }) }
        }
    }
}
