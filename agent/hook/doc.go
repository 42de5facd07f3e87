// Package hook runs what users and programs attach to the points of a session:
// commands and addresses from settings files, and functions of a program that
// uses the library.
//
// [Parse] reads the hooks of a settings file and reports what is wrong with them,
// line by line. An [Engine] is the [agent.Hooks] of one session: it finds the
// hooks of a point, asks whether they may run, runs them one after the other and
// merges their answers. It enters each hook that it considered into a log.
//
// A hook that guards calls and fails denies the call. Anywhere else a hook that
// fails is reported and decides nothing. docs/guide/hooks.md is the page for those who
// write hooks.
//
// The two forms of settings files differ in how a matcher is meant. Hooks in the wild know Claude
// Code's tools, so a patch is shown to them as edits of files (view.go). Programs run through
// agent/sandbox and leave nothing behind; a request reaches the one address that the user has seen.
// If a hook was changed since it was trusted, or if its matcher cannot be read, a person is asked,
// whatever else allows the call.
package hook
