// SPDX-License-Identifier: Apache-2.0

// Names for files that import other modules with clients and demands. The policy's type has the name of its module, so
// the module's name cannot qualify its types.

/// A client of the policy.
public typealias PolicyClient = ClientID
/// The policy's demand of a client.
public typealias PolicyDemand = Demand
