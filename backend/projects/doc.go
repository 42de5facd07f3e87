// Package projects lists the folders that the user opened, proposes folders for a path, and opens
// one in a process of its own, at a place in one of its sessions if need be. It also lists what
// works, waits and failed in all of them, and stops it.
package projects
