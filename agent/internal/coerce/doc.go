// Package coerce converts arguments of calls to the types of a schema where the conversion is
// certain (COM-40).
package coerce
