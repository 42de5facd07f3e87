package live

import (
	"reflect"
	"testing"
)

// A session has one lock, and so has the list of sessions. Everything else that
// goroutines share is guarded by one of the two.
func TestOneLock(t *testing.T) {
	t.Parallel()
	for _, of := range []reflect.Type{reflect.TypeFor[Session](), reflect.TypeFor[Sessions]()} {
		if locks := locksIn(of, of.Name()); len(locks) != 1 || locks[0] != of.Name()+".mu" {
			t.Errorf("the locks of %s are %v", of.Name(), locks)
		}
	}
}

// locksIn returns the paths of the locks and atomic values in a type of this package.
func locksIn(of reflect.Type, path string) (locks []string) {
	switch {
	case of.PkgPath() == "sync" && of.Name() != "WaitGroup", of.PkgPath() == "sync/atomic":
		return []string{path}
	case of.Kind() == reflect.Map || of.Kind() == reflect.Slice || of.Kind() == reflect.Array || of.Kind() == reflect.Pointer:
		if elem := of.Elem(); elem != reflect.TypeFor[Session]() && elem != reflect.TypeFor[Sessions]() {
			return locksIn(elem, path)
		}
	case of.Kind() == reflect.Struct && of.PkgPath() == reflect.TypeFor[Session]().PkgPath():
		for i := range of.NumField() {
			locks = append(locks, locksIn(of.Field(i).Type, path+"."+of.Field(i).Name)...)
		}
	}
	return locks
}
