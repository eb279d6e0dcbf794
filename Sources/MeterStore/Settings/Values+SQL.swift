import Domain
import Foundation
import GRDB

extension UInt64 {
    /// Converts a column's value. A negative one, which this program never writes, becomes 0.
    init(stored value: Int64) { self = UInt64(clamping: value) }
}

extension UInt16 {
    init(stored value: Int64) { self = UInt16(clamping: value) }
}

extension Stamp {
    /// Decodes a stamp from three adjacent columns.
    init(_ row: Row, at column: Int) throws {
        let text: String = row[column + 2]
        guard let host = HostID(text) else {
            throw DatabaseError(
                resultCode: .SQLITE_CORRUPT, message: "a stamp has the host \"\(text)\", which is not a UUID")
        }
        self.init(milliseconds: UInt64(stored: row[column]), counter: UInt16(stored: row[column + 1]), host: host)
    }

    var columns: [(any DatabaseValueConvertible)?] {
        [Int64(milliseconds), Int64(counter), host.description]
    }
}

extension HostID {
    init?(bringer text: String?) throws {
        guard let text else { return nil }
        guard let host = HostID(text) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "\"\(text)\" is not the id of a host")
        }
        self = host
    }
}

extension Register {
    /// - Parameter bringer: index of the column with the host that brought the value to the cloud.
    init(_ row: Row, at column: Int, bringer: Int) throws {
        self.init(
            value: try SettingValue(row, at: column), stamp: try Stamp(row, at: column + 2),
            broughtBy: try HostID(bringer: row[bringer]))
    }
}

extension Deletion {
    static let columns = "deleted_ms, deleted_counter, deleted_host, merged_into, deletion_brought_by"

    /// Nil for a record that was not deleted.
    init?(_ row: Row, at column: Int) throws {
        guard !(row[column] as DatabaseValue).isNull else { return nil }
        self.init(
            stamp: try Stamp(row, at: column), mergedInto: row[column + 3],
            broughtBy: try HostID(bringer: row[column + 4]))
    }
}

extension SettingValue {
    var columns: [(any DatabaseValueConvertible)?] { [kind, content] }

    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "bool"
        case .int: "int"
        case .double: "double"
        case .string: "string"
        }
    }

    var content: DatabaseValue {
        switch self {
        case .null: .null
        case .bool(let value): Int64(value ? 1 : 0).databaseValue
        case .int(let value): value.databaseValue
        case .double(let value): value.databaseValue
        // Store the text as bytes: GRDB ends a text at its first NUL.
        case .string(let text) where text.utf8.contains(0): Data(text.utf8).databaseValue
        case .string(let text): text.databaseValue
        }
    }

    init(_ row: Row, at column: Int) throws {
        let kind: String = row[column]
        let value: DatabaseValue = row[column + 1]
        switch (kind, value.storage) {
        case ("null", _): self = .null
        case ("bool", .int64(let value)): self = .bool(value != 0)
        case ("int", .int64(let value)): self = .int(value)
        case ("double", .double(let value)): self = .double(value)
        case ("double", .int64(let value)): self = .double(Double(value))
        case ("string", .string(let text)): self = .string(text)
        case ("string", .blob(let bytes)): self = .string(String(decoding: bytes, as: UTF8.self))
        default:
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a value does not fit its kind \"\(kind)\"")
        }
    }
}

extension Statement {
    func run(_ arguments: [(any DatabaseValueConvertible)?]) throws {
        try execute(arguments: StatementArguments(arguments))
    }

    /// Executes without an argument list, which saves time in thousands of executions.
    func run<each Value: StatementBinding>(_ values: repeat each Value) throws {
        try bound(repeat each values).execute()
    }

    func bound<each Value: StatementBinding>(_ values: repeat each Value) throws -> Statement {
        unbind()
        var bound: CInt = 0
        try bind(repeat each values, after: &bound)
        checkBound(bound)
        return self
    }

    /// Resets the statement and clears GRDB's own arguments.
    func unbind() { setUncheckedArguments(StatementArguments()) }

    /// Binds the values to the question marks after the first `bound` ones, and adds their number to `bound`.
    func bind<each Value: StatementBinding>(_ values: repeat each Value, after bound: inout CInt) throws {
        for value in repeat each values {
            bound += 1
            let code = value.bind(to: sqliteStatement, at: bound)
            guard code == 0 else { throw DatabaseError(resultCode: ResultCode(rawValue: code), sql: sql) }
        }
    }

    func checkBound(_ bound: CInt) {
        assert(Int64(0).bind(to: sqliteStatement, at: bound + 1) != 0, "a question mark has no value: \(sql)")
    }
}
