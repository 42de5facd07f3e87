// Package mcp keeps the servers of the Model Context Protocol that the user and the
// project configured: read from their files, trusted, switched, connected, tried,
// imported from other programs, and shown as they are.
package mcp
