"""Sends one UDP packet past the packet filter: DEVICE MAC SOURCE DESTINATION PORT TEXT. Needs NET_RAW."""
import socket
import struct
import sys

device, mac, source, destination, port, text = sys.argv[1:]
payload = text.encode()
udp = struct.pack("!HHHH", 40000, int(port), 8 + len(payload), 0) + payload
addresses = socket.inet_aton(source) + socket.inet_aton(destination)
head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), 1, 0, 64, socket.IPPROTO_UDP, 0) + addresses
total = sum(struct.unpack("!10H", head))
while total >> 16:
    total = (total & 0xFFFF) + (total >> 16)
head = head[:10] + struct.pack("!H", ~total & 0xFFFF) + head[12:]
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind((device, 0))
own = link.getsockname()[4]
link.send(bytes.fromhex(mac.replace(":", "")) + own + struct.pack("!H", 0x0800) + head + udp)
