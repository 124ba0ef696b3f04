// Package resolve returns the platform, operation and parameters that an address names. It uses the operation
// table and the addresses that each provider knows ([providers.Provider.Names]), and sends no requests.
package resolve
