// Package projects lists the folders that the user opened, proposes folders for a path, and opens
// one in a process of its own, at a place in one of its sessions if need be.
package projects
