// Package confinement decides how the commands of sessions are confined: what the user
// chose, what settings files and rules add to it, and what this machine can do. Language
// servers and the tools that reach hosts ask it, too.
package confinement
