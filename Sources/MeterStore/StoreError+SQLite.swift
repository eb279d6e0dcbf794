package import Gateway
import StoreKit

extension StoreError.Code: StoreFileErrorCode {}

extension StoreError: StoreFileError {
    package static func adviceIfDamaged(_ action: String) -> String {
        action == "opened"
            ? "It is left as it is; move it away, or restore it from a backup"
            : "Start the program again: it then checks the whole file, and sets it aside if it is damaged"
    }
}
