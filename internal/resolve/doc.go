// Package resolve returns the platform, operation and parameters that an address stands for. It uses the operation
// table and the addresses that each provider knows ([providers.Provider.Names]), and sends no requests.
package resolve
