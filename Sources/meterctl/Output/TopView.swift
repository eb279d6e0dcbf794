import Domain
import GatewayAPI
import LinuxIO
import ProgramKit

enum TopKey: Hashable {
    case quit
    case up, down, pageUp, pageDown, first, last

    /// Returns the known keys in the input: letters, and terminal sequences for keys such as arrows.
    static func keys(in bytes: [UInt8]) -> [TopKey] {
        var keys: [TopKey] = []
        var rest = String(decoding: bytes, as: UTF8.self)[...]
        while let letter = rest.popFirst() {
            if letter == "\u{1B}", rest.hasPrefix("[") || rest.hasPrefix("O") {
                rest.removeFirst()
                let code = rest.prefix { $0.isNumber || $0 == ";" }
                rest = rest.dropFirst(code.count)
                if let end = rest.popFirst(), let key = key(code, end) { keys.append(key) }
            } else if let key = key(letter) {
                keys.append(key)
            }
        }
        return keys
    }

    private static func key(_ letter: Character) -> TopKey? {
        switch letter {
        case "q", "Q": .quit
        case "k": .up
        case "j": .down
        case "b": .pageUp
        case " ": .pageDown
        case "g": .first
        case "G": .last
        default: nil
        }
    }

    private static func key(_ code: Substring, _ end: Character) -> TopKey? {
        switch (code, end) {
        case (_, "A"): .up
        case (_, "B"): .down
        case ("5", "~"): .pageUp
        case ("6", "~"): .pageDown
        case (_, "H"), ("1", "~"), ("7", "~"): .first
        case (_, "F"), ("4", "~"), ("8", "~"): .last
        default: nil
        }
    }
}

struct TopView {
    private var meters: [MeterStatus]
    private var heardAt: MonotonicTime
    var failure: String?
    private var offset = 0
    private var page = 1

    init(meters: [MeterStatus], at now: MonotonicTime) {
        self.meters = meters
        heardAt = now
    }

    mutating func heard(_ meters: [MeterStatus], at now: MonotonicTime) {
        self.meters = meters
        heardAt = now
        failure = nil
    }

    /// Scrolls as the key requires. Returns false if the key quits.
    mutating func press(_ key: TopKey) -> Bool {
        switch key {
        case .quit: return false
        case .up: offset -= 1
        case .down: offset += 1
        case .pageUp: offset -= page
        case .pageDown: offset += page
        case .first: offset = 0
        case .last: offset = meters.count
        }
        scroll()
        return true
    }

    private mutating func scroll() { offset = max(0, min(offset, meters.count - page)) }

    // MARK: The picture

    private static let frame = 3

    mutating func lines(rows: Int, columns: Int, at now: MonotonicTime, _ times: TimeText) -> [String] {
        page = max(1, rows - Self.frame)
        scroll()
        let isOld = failure != nil
        let table = MeterTable.table(meters, fitting: columns, isOld: isOld).lines(fitting: columns)
        let shown = table.dropFirst().dropFirst(offset).prefix(page)
        var lines = [heading(columns, times)] + table.prefix(1) + shown
        if meters.isEmpty { lines[1] = "no meter is known yet: meterctl scan".fitting(columns) }
        lines += Array(repeating: "", count: max(0, rows - 1 - lines.count))
        return lines.prefix(max(0, rows - 1)) + [footer(columns, at: now)]
    }

    private func heading(_ columns: Int, _ times: TimeText) -> String {
        let time = times.text(LinuxClock.wallNow)
        let room = columns - time.count - 2
        return room < 1
            ? time.fitting(columns) : MeterTable.heading(meters).fitting(room).padded(toCells: room + 2) + time
    }

    private func footer(_ columns: Int, at now: MonotonicTime) -> String {
        if let failure {
            let age = Formatting.age(milliseconds: (now - heardAt).milliseconds / 1000 * 1000)
            return Terminal.coloured("\(failure.visible): this is \(age) old · q quits".fitting(columns), .red)
        }
        let last = min(meters.count, offset + page)
        let place = meters.count > page ? "\(offset + 1)–\(last) of \(meters.count) · ↑ ↓ PgUp PgDn scroll · " : ""
        return Terminal.coloured("\(place)q quits".fitting(columns), .dim)
    }
}
