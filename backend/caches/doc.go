// Package caches keeps the caches of confined commands within a limit. Each
// project has a folder, in it each program one. Nothing in them is lost when it is
// deleted: programs fill them again.
//
// Once an hour, while commands run, those unused for two months go, and then the oldest beyond 5
// GB.
package caches
