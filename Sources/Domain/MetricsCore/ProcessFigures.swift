/// Kernel statistics of this process, named as in Prometheus' client libraries.
package struct ProcessFigures: Hashable, Sendable {
    /// User and kernel time of all threads.
    package var cpuSeconds: Double
    package var threads: Int
    package var virtualBytes: UInt64
    /// Resident memory, including shared pages.
    package var residentBytes: UInt64
    /// Start in seconds since 1970; nil if the boot time is unknown.
    package var startSeconds: Double?
    package var openDescriptors: Int
    package var descriptorsMax: UInt64

    /// - Parameters:
    ///   - stat: contents of `/proc/self/stat` (proc(5)). The program's name in it may have blanks and parentheses.
    ///   - bootSeconds: boot time in seconds since 1970.
    ///   - ticksPerSecond: unit of the times in `stat`.
    /// - Returns: nil if `stat` has another form.
    package init?(
        stat: String, bootSeconds: Double?, ticksPerSecond: Int, pageBytes: Int, openDescriptors: Int,
        descriptorsMax: UInt64
    ) {
        guard ticksPerSecond > 0, pageBytes > 0, let name = stat.lastIndex(of: ")") else { return nil }
        // Fields after the name; the first one is the third of proc(5).
        let fields = stat[stat.index(after: name)...].split(separator: " ")
        func field(_ number: Int) -> UInt64? { fields.count > number - 3 ? UInt64(fields[number - 3]) : nil }
        guard let user = field(14), let system = field(15), let threads = field(20), let start = field(22),
            let virtual = field(23), let pages = field(24)
        else { return nil }
        let ticks = Double(ticksPerSecond)
        cpuSeconds = (Double(user) + Double(system)) / ticks
        self.threads = Int(clamping: threads)
        virtualBytes = virtual
        residentBytes = pages.multipliedReportingOverflow(by: UInt64(pageBytes)).partialValue
        startSeconds = bootSeconds.map { $0 + Double(start) / ticks }
        self.openDescriptors = openDescriptors
        self.descriptorsMax = descriptorsMax
    }
}

package enum ProcessMetrics {
    static let cpu = MetricDefinition.counter(
        "process_cpu_seconds_total", "Processor time, user and kernel.")
    static let threads = MetricDefinition.gauge("process_threads", "Threads.")
    static let virtual = MetricDefinition.gauge("process_virtual_memory_bytes", "Address space.")
    static let resident = MetricDefinition.gauge("process_resident_memory_bytes", "Memory in use, with shared pages.")
    static let start = MetricDefinition.gauge("process_start_time_seconds", "Start time, since 1970.")
    static let descriptors = MetricDefinition.gauge("process_open_fds", "Open file descriptors.")
    static let descriptorsMax = MetricDefinition.gauge("process_max_fds", "Maximum number of file descriptors.")

    package static let all = [cpu, threads, virtual, resident, start, descriptors, descriptorsMax]
}

extension MetricsPage {
    package mutating func add(_ figures: ProcessFigures) {
        add(ProcessMetrics.cpu, [], figures.cpuSeconds)
        add(ProcessMetrics.threads, count: figures.threads)
        add(ProcessMetrics.virtual, count: figures.virtualBytes)
        add(ProcessMetrics.resident, count: figures.residentBytes)
        add(ProcessMetrics.start, [], figures.startSeconds)
        add(ProcessMetrics.descriptors, count: figures.openDescriptors)
        add(ProcessMetrics.descriptorsMax, count: figures.descriptorsMax)
    }
}
