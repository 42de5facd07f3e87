// Package plan has the tools with which a model plans before it changes anything
// (OAS-329, OAS-330). The gate keeps plan mode; these tools lead into it and out of it, and
// only a person's answer changes the mode.
//
// An answer to a plan leads into the mode that the user chose, and no answer into one that never
// asks.
package plan
