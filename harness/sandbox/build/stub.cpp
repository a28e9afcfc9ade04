// The object that stands in for a candidate that did not compile; its module has no kb_launch.

/// Tells a human with `nm` what happened. Nothing relies on it: build.json is the truth.
extern "C" int kb_build_failed() { return 1; }
