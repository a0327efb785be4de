#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The manifests of packaging/kubernetes, as far as that can be tried without a
# cluster: kubectl, the types of the official client, and lfproxy itself.

# bats file_tags=onethread

load helpers

MANIFESTS=$ROOT/packaging/kubernetes
OBJECTS=("$MANIFESTS"/{rbac,configmap,deployment,daemonset,service,pdb}.yaml)

tool() {
	python3 -B "$ROOT/tests/behaviour/kubetool.py" "$@"
}

# Its caches are in the test's directory, and nothing is of this user's clusters.
kube() {
	HOME=$T KUBECONFIG=/dev/null kubectl "$@"
}

# bats test_tags=unsanitized
@test "kubernetes: kubectl takes each manifest, alone and by kustomize" {
	local file kinds

	equal "files that are not tried" "$(printf '%s\n' "${OBJECTS[@]}" \
	    "$MANIFESTS/kustomization.yaml" | sort)" \
	    "$(printf '%s\n' "$MANIFESTS"/*.yaml | sort)"
	serve api python3 -B "$ROOT/tests/behaviour/kubetool.py" serve
	for file in "${OBJECTS[@]}"; do
		run -0 kube apply --server "http://$(addr api)" \
		    --dry-run=client --validate=false -f "$file"
		[[ $output =~ ^[a-z.]+/lfproxy\ created\ \(dry\ run\)$ ]] ||
		    fail "$file: $output"
	done
	kube kustomize "$MANIFESTS" >"$T/all.yaml"
	kinds=$(sed -n 's/^kind: //p' "$T/all.yaml" | sort | xargs)
	equal "kinds" "ConfigMap Deployment PodDisruptionBudget Service \
ServiceAccount" "$kinds"
	grep -q 'image: registry.example/lfproxy:' "$T/all.yaml"
	run ! grep -E 'image: lfproxy$' "$T/all.yaml"
}

# bats test_tags=unsanitized
@test "kubernetes: fields and types are those of the official client" {
	run -0 tool check "${OBJECTS[@]}"
	equal "files" "${#OBJECTS[@]}" "${#lines[@]}"
	sed 's/periodSeconds: 2/periodSecond: 2/' "$MANIFESTS/deployment.yaml" \
	    >"$T/field.yaml"
	run ! tool check "$T/field.yaml"
	[[ $output == *'V1Probe has no field periodSecond'* ]]
	sed 's/replicas: 2/replicas: two/' "$MANIFESTS/deployment.yaml" \
	    >"$T/type.yaml"
	run ! tool check "$T/type.yaml"
	[[ $output == *"spec.replicas: 'two' is not a int"* ]]
}

@test "kubernetes: the manifests agree with each other and the configuration" {
	tool ini "$MANIFESTS/configmap.yaml" >"$T/lfproxy.ini"
	"$LFPROXY" -t -c "$T/lfproxy.ini"
	"$LFPROXY" -T -c "$T/lfproxy.ini" >"$T/effective"
	tool agree "$T/effective" "${OBJECTS[@]}"
}

# version N: as the kubelet publishes a content of the map: a directory of its
# own, and a link to it that is replaced.
version() {
	mkdir "$T/map/..$1"
	cat >"$T/map/..$1/lfproxy.ini"
	ln -s "..$1" "$T/map/..new"
	mv -T "$T/map/..new" "$T/map/..data"
	ln -sf ..data/lfproxy.ini "$T/map/lfproxy.ini"
}

# configuration: that of the map, with ports and paths of this test.
configuration() {
	tool ini "$MANIFESTS/configmap.yaml" |
	    sed -e "s|/run/lfproxy|$T|; s|:8080\$|127.0.0.1:0|" \
	        -e "s|:8404|127.0.0.1:0|; s|dns=app.*|file=$T/members|" \
	        -e "s|^maxconn = .*|maxconn = 100|" "$@"
}

@test "kubernetes: a change of the map takes effect by a reload" {
	mkdir "$T/map"
	start_app a
	addr a >"$T/members"
	configuration >"$T/first"
	configuration -e 's/leastconn/random/' >"$T/second"
	version 1 <"$T/first"
	launch_lfproxy -c "$T/map/lfproxy.ini"
	fetch -o /dev/null "$(url)"
	version 2 <"$T/second"
	rm -r "$T/map/..1"
	run -0 "$CTL" -S "$T/admin.sock" reload
	[[ $output == *random* ]]
	fetch -o /dev/null "$(url)"
}
