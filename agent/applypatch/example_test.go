package applypatch_test

import (
	"fmt"
	"log"
	"os"

	"atelier.dev/atelier/agent/applypatch"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer root.Close()
	if err := root.WriteFile("greet.py", []byte("def greet(name):\n    print(\"Hello\")\n"), 0o644); err != nil {
		log.Fatal(err)
	}

	patch, err := applypatch.Parse(`*** Begin Patch
*** Update File: greet.py
@@ def greet(name):
-    print("Hello")
+    print(f"Hello, {name}!")
*** Add File: main.py
+from greet import greet
+greet("you")
*** End Patch`)
	if err != nil {
		log.Fatal(err)
	}
	plan, err := patch.Plan(root.ReadFile) // nothing is written yet
	if err != nil {
		log.Fatal(err)
	}
	for _, change := range plan.Changes {
		fmt.Printf("%s %s: +%d -%d\n", change.Kind, change.Path, change.Added, change.Removed)
	}
	if err := plan.Commit(root); err != nil {
		log.Fatal(err)
	}
	fmt.Print(plan.Summary())
	// Output:
	// update greet.py: +1 -1
	// add main.py: +2 -0
	// Success. Updated the following files:
	// A main.py
	// M greet.py
}

// The error of a patch that does not fit says how to correct it.
func ExampleError() {
	patch, err := applypatch.Parse(`*** Begin Patch
*** Update File: greet.py
@@
 def greet(name):
-    print("Hi")
+    print(name)
*** End Patch`)
	if err != nil {
		log.Fatal(err)
	}
	_, err = patch.Plan(func(string) ([]byte, error) {
		return []byte("import sys\n\ndef greet(name):\n    print(\"Hello\")\n"), nil
	})
	fmt.Println(err)
	// Output:
	// line 3 of the patch: greet.py: the old lines of this chunk were not found:
	//   def greet(name):
	//       print("Hi")
	// The nearest place differs first in line 4 of the file:
	//   expected:     print("Hi")
	//   found:        print("Hello")
	// Read that place again and copy its lines.
}
