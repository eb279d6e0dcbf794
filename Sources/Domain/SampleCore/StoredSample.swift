package struct StoredSample: Hashable, Sendable {
    package var time: WallTime
    package var reading: Reading

    package init(time: WallTime, reading: Reading) {
        self.time = time
        self.reading = reading
    }
}
