import BluetoothCore
import Testing
