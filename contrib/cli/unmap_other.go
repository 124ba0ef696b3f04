//go:build !linux

package cli

// unmap does nothing: it is for Linux.
func unmap() {}
