// Package rules holds the tests of the whole repository, and no code:
//
//   - architecture_test.go: who may import what, and the budgets of files, types and packages;
//   - docs_test.go: pages stay readable, and their links lead somewhere;
//   - requirements_test.go: each code of a requirement can be looked up;
//   - scripts_test.go: the targets of the Makefile work in a fresh clone;
//   - words_test.go: what users read is there in both languages.
package rules
