/// One requirement of a protocol, as a check that any implementation must pass.
///
/// A test runs the clauses as its arguments, each on a fresh subject:
///
/// ```swift
/// @Test(arguments: MeterRepositoryContract.clauses)
/// func store_keepsTheContract(_ clause: ContractClause<any MeterRepository>) async throws {
///     try await clause.check(try MeterStore.open(path: folder.store))
/// }
/// ```
package struct ContractClause<Subject>: Sendable, CustomStringConvertible {
    /// The requirement, in the form of a test's name.
    package let name: String
    package let check: @Sendable (Subject) async throws -> Void

    init(_ name: String, _ check: @escaping @Sendable (Subject) async throws -> Void) {
        self.name = name
        self.check = check
    }

    package var description: String { name }
}

package struct ContractViolation: Error, CustomStringConvertible {
    package let description: String

    static func require(_ holds: Bool, _ what: String) throws {
        if !holds { throw ContractViolation(description: what) }
    }

    static func requireEqual<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) throws {
        if found != expected { throw ContractViolation(description: "\(what): found \(found), expected \(expected)") }
    }

    static func requireThrow(_ what: String, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            return
        }
        throw ContractViolation(description: "\(what): nothing was thrown")
    }
}

extension ContractViolation {
    static func requireSome<Value>(_ found: Value?, _ what: String) throws -> Value {
        guard let found else { throw ContractViolation(description: "\(what): there is none") }
        return found
    }
}
