@main
enum Metercloud {
    static func main() {}
}
