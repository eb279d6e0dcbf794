package import LinuxIO

extension PseudoTerminal {
    /// Returns once no process has the slave side open.
    ///
    /// That may be after the slave's `close`, because a process that another test is starting has copies of our
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
