/// How a broker is reached.
enum Placeholder {}
