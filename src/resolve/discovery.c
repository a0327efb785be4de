/* SPDX-License-Identifier: MIT
 * See discovery.h.
 */
#include "resolve/discovery.h"

#include "resolve/discovery_consul.h"
#include "resolve/discovery_etcd.h"
#include "resolve/discovery_file.h"
#include "resolve/discovery_name.h"

const struct discovery_kind_facts discovery_kinds[DISCOVERY_KINDS] = {
    [DISCOVERY_DNS] = {"dns", "HOST:PORT", false, discovery_name_check, NULL},
    [DISCOVERY_SRV] = {"srv", "NAME", false, discovery_srv_name_check, NULL},
    [DISCOVERY_FILE] = {"file", "PATH", false, discovery_file_check, NULL},
    [DISCOVERY_ETCD] = {"etcd", "URL", true, discovery_etcd_check_url,
        discovery_etcd_check},
    [DISCOVERY_CONSUL] = {"consul", "URL", true, discovery_consul_check_url,
        discovery_consul_check},
};
