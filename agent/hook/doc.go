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
package hook
