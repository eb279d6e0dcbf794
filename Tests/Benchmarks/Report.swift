import FoundationEssentials
import Glibc

/// Prints figures beside what was aimed at.
enum Report {
    static func title(_ text: String) { line("\n\(text)") }

    static func line(_ text: String) {
        print(text)
        fflush(nil)
    }

    /// - Parameter goal: whether it was met and what it was; nil for a figure without one.
    static func figure(_ name: String, _ value: String, goal: (isMet: Bool, words: String)? = nil) {
        let verdict = goal.map { "   \($0.isMet ? "met   " : "MISSED") goal: \($0.words)" } ?? ""
        line("  \(name.padded(44)) \(value.padded(26))\(verdict)")
    }

    /// What somebody else does in the same run, and how our rate compares with it.
    static func control(_ name: String, _ rate: Double, _ unit: String, of ours: Double) {
        line(
            "    \("control: \(name)".padded(44)) \("\(rate.grouped)\(unit)".padded(24))   ours: \((ours / rate).fixed(2)) x"
        )
    }

    /// The same of times, in seconds.
    static func control(_ name: String, _ time: Double, of ours: Double) {
        line("    \("control: \(name)".padded(44)) \(time.milliseconds.padded(24))   ours: \((ours / time).fixed(2)) x")
    }

    /// The machine and how busy it is with other things.
    static func machine() {
        let model = file("/proc/cpuinfo").split(separator: "\n").first { $0.hasPrefix("model name") }
            .map { $0.drop { $0 != ":" }.dropFirst(2) }
        let kernel = file("/proc/sys/kernel/osrelease").filter { $0 != "\n" }
        let count = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        line("machine: \(model ?? "processor not named"), \(count) processors, Linux \(kernel)")
        load()
    }

    static func load() {
        line("load average: \(file("/proc/loadavg").split(separator: " ").prefix(3).joined(separator: " "))")
    }

    /// Ends of lines in a file, however large it is.
    static func lineCount(_ path: String) -> Int {
        guard let file = fopen(path, "r") else { return 0 }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        var count = 0
        while case let length = fread(&bytes, 1, bytes.count, file), length > 0 {
            for byte in bytes[..<length] where byte == UInt8(ascii: "\n") { count += 1 }
        }
        return count
    }

    static func file(_ path: String) -> String {
        // What cannot be read prints as nothing.
        (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }
}

extension String {
    func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

extension Double {
    /// With so many digits behind the point.
    func fixed(_ digits: Int) -> String {
        let power = (0..<digits).reduce(1.0) { value, _ in value * 10 }
        let scaled = Int64((abs(self) * power).rounded())
        let (whole, rest) = scaled.quotientAndRemainder(dividingBy: Int64(power))
        let sign = self < 0 && scaled > 0 ? "-" : ""
        guard digits > 0 else { return sign + String(whole) }
        let behind = String(rest)
        return "\(sign)\(whole).\(String(repeating: "0", count: digits - behind.count))\(behind)"
    }

    /// A large number with its thousands apart.
    var grouped: String {
        let digits = Array(String(Int64(rounded())))
        return digits.indices.reduce("") { text, index in
            let isBreak = index > 0 && (digits.count - index) % 3 == 0
            return text + (isBreak ? "," : "") + String(digits[index])
        }
    }
}
