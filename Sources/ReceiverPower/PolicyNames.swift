import PowerControl

// Names for who imports other modules that have clients and demands too: the policy's type has the name of its module, so
// that this cannot be used to tell them apart.

/// A client of the policy.
public typealias PolicyClient = ClientID
/// What a client wants of the policy.
public typealias PolicyDemand = Demand
