package import LinuxIO

extension PseudoTerminal {
    /// Returns once no process has the slave open.
    ///
    /// That may be a moment after the slave's `close`: a process that another test is just starting has copies of our
    /// descriptors until it executes its program.
    package func peerLeaves(on loop: IOLoop) async throws {
        let (leaving, report) = AsyncStream.makeStream(of: Void.self)
        try await loop.perform { [master] in
            try loop.register(master, .readable) { readiness in
                guard readiness.contains(.hangup) else { return }
                loop.unregister(master)
                report.finish()
            }
        }
        for await _ in leaving {}
    }
}
