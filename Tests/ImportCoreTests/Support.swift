import Domain

/// What is wrong with a file; nil if it is taken.
func importError<Taken>(_ take: () throws(ImportError) -> Taken) -> ImportError? {
    do throws(ImportError) {
        _ = try take()
        return nil
    } catch {
        return error
    }
}
