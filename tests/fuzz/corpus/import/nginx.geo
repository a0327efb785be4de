events {}
stream {
    geo $zone {
        default     far;
        10.0.0.0/8  near;
        127.0.0.0/8 local;
        10.1.0.0/16 far;
    }
    map $remote_addr $admin {
        192.0.2.1 near;
        default far;
    }
    map $server_port $by_port {
        7201 near;
        default local;
    }
    upstream near  { server 10.0.10.1:80; }
    upstream far   { server 10.0.10.2:80; }
    upstream local { server 10.0.10.3:80; }
    server { listen 7200; proxy_pass $zone; }
    server { listen 7201; listen 7202; proxy_pass $by_port; }
    server { listen 7203; proxy_pass $admin; }
}
